# A thin front of CMake.
#   make             build into build/
#   make demo        share disks, find them, log in, write, verify, measure; cleans up
#   make check       every test this machine can run
#   make check-asan  the same under AddressSanitizer and UBSan; check-tsan: ThreadSanitizer
#   make bench       farblockd beside the other targets that are installed
#   make fuzz        every fuzzer for FUZZ_SECONDS (60) each
#   make lint        includes, layout, formatting
#   make lab         real kernel initiators and targets in a virtual machine
#   make deb         Debian packages in build/deb
#   make install     DESTDIR and PREFIX (/usr/local) as usual
BUILD        ?= build
JOBS         ?= $(shell nproc)
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
CMAKE         = cmake -S . -DCMAKE_INSTALL_PREFIX=$(PREFIX)
BUILD_IN      = $(MAKE) --no-print-directory -j$(JOBS) -C
CTEST         = ctest --output-on-failure --no-tests=error -j$(JOBS)

all:
	@etc/deps.sh
	@$(CMAKE) -B $(BUILD) > /dev/null
	@$(BUILD_IN) $(BUILD)

demo: all
	@tests/demo/demo.sh $(BUILD)

# The lab's guests take every CPU: after the others, one by one. What an emulated kernel does may
# depend on how busy this machine is: what fails there is tried once more, and told.
check:
	@etc/deps.sh check lab
	@$(CMAKE) -B $(BUILD) -DREQUIRE_TESTS=ON > /dev/null
	@$(BUILD_IN) $(BUILD)
	@cd $(BUILD) && $(CTEST) -LE '^lab$$'
	@cd $(BUILD) && $(CTEST) -L '^lab$$' -j1 --repeat until-pass:2

check-asan:
	@etc/deps.sh check
	@$(CMAKE) -B $(BUILD)-asan -DREQUIRE_TESTS=ON -DSANITIZE=address > /dev/null
	@$(BUILD_IN) $(BUILD)-asan
	@cd $(BUILD)-asan && $(CTEST) -LE slow

check-tsan:
	@etc/deps.sh check
	@$(CMAKE) -B $(BUILD)-tsan -DREQUIRE_TESTS=ON -DSANITIZE=thread > /dev/null
	@$(BUILD_IN) $(BUILD)-tsan
	@cd $(BUILD)-tsan && $(CTEST) -LE "slow|memory|single-thread"

bench: all
	@etc/deps.sh bench
	@python3 tests/bench/run.py --build $(BUILD)

fuzz:
	@etc/deps.sh fuzz
	@tests/fuzz/run.sh $(FUZZ_SECONDS)

lint:
	@etc/deps.sh lint
	@python3 tests/lint/lint.py

deb:
	@etc/deps.sh deb
	@etc/deb.sh $(BUILD)/deb

lab: all
	@etc/deps.sh lab
	@tests/lab/run.sh $(BUILD) || [ $$? = 77 ]
	@tests/lab/contract.sh $(BUILD) || [ $$? = 77 ]

install: all
	@cmake --install $(BUILD)

.PHONY: all demo check check-asan check-tsan bench fuzz lint lab deb install
