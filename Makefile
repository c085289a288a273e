# A thin front of CMake.
#   make             build into build/
#   make demo        share disks, find them, log in, write, verify, measure; cleans up
#   make check       every test that needs no virtual machine of the lab
#   make check-asan  most of the same under AddressSanitizer and UBSan; check-tsan: ThreadSanitizer
#   make lab         Linux's own initiators and targets in a virtual machine: what says most
#   make soak        all of the lab, loads, long fuzzing: hours
#   make bench       farblockd beside the other targets that are installed
#   make fuzz        every fuzzer for FUZZ_SECONDS (60) each
#   make lint        includes, layout, formatting
#   make deb         Debian packages in build/deb
#   make install     DESTDIR and PREFIX (/usr/local) as usual
BUILD        ?= build
JOBS         ?= $(shell nproc)
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 300
# Ninja, where it is, builds in two thirds of the time; a directory keeps what it was made for.
CMAKE         = cmake -S . -DCMAKE_INSTALL_PREFIX=$(PREFIX)
configure     = $(CMAKE) -B $(1) $(2) $$([ -e $(1)/CMakeCache.txt ] || ! command -v ninja >/dev/null || echo -G Ninja) >/dev/null
build         = cmake --build $(1) -j$(JOBS)
CTEST         = ctest --output-on-failure --no-tests=error
# Most tests wait more than they work. A guest of the lab keeps a CPU busy, half of the time.
TEST_JOBS     = $(shell expr 3 '*' $(JOBS))
LAB_JOBS      = $(JOBS)

all:
	@etc/deps.sh
	@$(call configure,$(BUILD))
	@$(call build,$(BUILD))

demo: all
	@tests/demo/demo.sh $(BUILD)

check:
	@etc/deps.sh check
	@$(call configure,$(BUILD),-DREQUIRE_TESTS=ON)
	@$(call build,$(BUILD))
	@cd $(BUILD) && $(CTEST) -LE '^(lab|soak)$$' -j$(TEST_JOBS)

check-asan:
	@etc/deps.sh check
	@$(call configure,$(BUILD)-asan,-DREQUIRE_TESTS=ON -DSANITIZE=address)
	@$(call build,$(BUILD)-asan)
	@cd $(BUILD)-asan && $(CTEST) -LE '^(lab|soak|slow|lint)$$' -j$(TEST_JOBS)

check-tsan:
	@etc/deps.sh check
	@$(call configure,$(BUILD)-tsan,-DREQUIRE_TESTS=ON -DSANITIZE=thread)
	@$(call build,$(BUILD)-tsan)
	@cd $(BUILD)-tsan && $(CTEST) -LE '^(lab|soak|slow|lint|memory|single-thread)$$' -j$(TEST_JOBS)

bench: all
	@etc/deps.sh bench
	@python3 tests/bench/run.py --build $(BUILD)
	@python3 tests/bench/transports.py --build $(BUILD)
	@python3 tests/bench/initiator.py --build $(BUILD) || [ $$? = 77 ]
	@python3 tests/bench/run.py --build $(BUILD) --disks --size 512 --rounds 4

fuzz:
	@etc/deps.sh fuzz
	@tests/fuzz/run.sh $(FUZZ_SECONDS)

lint:
	@etc/deps.sh lint
	@python3 tests/lint/lint.py

deb:
	@etc/deps.sh deb
	@etc/deb.sh $(BUILD)/deb

lab:
	@etc/deps.sh check lab boot
	@$(call configure,$(BUILD),-DREQUIRE_TESTS=ON)
	@$(call build,$(BUILD))
	@cd $(BUILD) && $(CTEST) -L '^lab$$' -j$(LAB_JOBS)

# One after the other, as loads are measured; then the lab under AddressSanitizer.
soak:
	@etc/deps.sh check lab boot fuzz
	@$(call configure,$(BUILD),-DREQUIRE_TESTS=ON)
	@$(call build,$(BUILD))
	@$(call configure,$(BUILD)-asan,-DREQUIRE_TESTS=ON -DSANITIZE=address)
	@$(call build,$(BUILD)-asan)
	@r=0; (cd $(BUILD) && $(CTEST) -L '^soak$$') || r=1; \
	(cd $(BUILD)-asan && $(CTEST) -L '^lab$$') || r=1; \
	tests/fuzz/run.sh $(SOAK_SECONDS) || r=1; exit $$r

install: all
	@cmake --install $(BUILD)

.PHONY: all demo check check-asan check-tsan lab soak bench fuzz lint deb install
