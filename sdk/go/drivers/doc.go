// Package drivers tests transactions with real database drivers. It is a module of its own, so
// that the SDK depends on none of them.
package drivers
