# A thin front of CMake. Targets: all demo check check-asan check-tsan bench fuzz lint lab install.
BUILD ?= build
JOBS  ?= $(shell nproc)
CMAKE  = cmake -S . -G "Unix Makefiles"

all: deps
	$(CMAKE) -B $(BUILD)
	$(MAKE) -C $(BUILD) -j$(JOBS) --no-print-directory

deps:
	@etc/deps.sh

.PHONY: all deps
