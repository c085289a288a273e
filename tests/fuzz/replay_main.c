// SPDX-License-Identifier: BSD-2-Clause
// Runs a fuzzer's entry point over every file of the given folders, without libFuzzer.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return -1;
	}
	static uint8_t raw[1 << 20];
	size_t n = fread(raw, 1, sizeof raw, f);
	fclose(f);
	// An exact-size heap copy, so that AddressSanitizer sees a read past the end.
	uint8_t *data = malloc(n ? n : 1);
	for (size_t i = 0; i < n; i++)
		data[i] = raw[i];
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = 0;
	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		if (!d) {
			perror(argv[i]);
			return 1;
		}
		for (struct dirent *e; (e = readdir(d));) {
			if (e->d_name[0] == '.')
				continue;
			if (replay_file(argv[i], e->d_name))
				return 1;
			count++;
		}
		closedir(d);
	}
	printf("%lu inputs replayed\n", count);
	return count ? 0 : 1;
}
