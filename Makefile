# Makefile - for the fingers; Meson and scripts/ do the work.

all:
	@test -e build/build.ninja || meson setup build --buildtype=release -Dtests=false
	@ninja -C build

# Looks at the code without running it; ./test runs it.
check:
	@scripts/check

asan:
	@test -e build-asan/build.ninja || \
	    meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-asan

coverage:
	@./test coverage

format:
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

house:
	@scripts/house

package:
	@scripts/package

clean:
	@rm -rf build build-asan build-check build-package build-release build-test build-upgrade

.PHONY: all check asan coverage format house package clean
