# Makefile - for the fingers; Meson does the work.

all:
	@test -e build/build.ninja || meson setup build --buildtype=release -Dtests=false
	@ninja -C build

check:
	@./test

asan:
	@test -e build-asan/build.ninja || \
	    meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-asan

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build build-asan build-test

.PHONY: all check asan format clean
