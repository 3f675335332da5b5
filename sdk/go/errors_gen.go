// Code generated from spec/errors.txt by internal/errgen; DO NOT EDIT.

package cairn

// Errors for errors.Is, one for each code of the engine.
var (
	// ErrBadInput: a field is missing, unknown, of the wrong type or out of range.
	ErrBadInput = sentinel("bad_input", 400, "a field is missing, unknown, of the wrong type or out of range")
	// ErrBadJSON: the text is not JSON that can be stored.
	ErrBadJSON = sentinel("bad_json", 400, "the text is not JSON that can be stored")
	// ErrTooLarge: beyond a limit; nothing was written.
	ErrTooLarge = sentinel("too_large", 413, "beyond a limit; nothing was written")
	// ErrUnauthorized: no token, or an unknown one.
	ErrUnauthorized = sentinel("unauthorized", 401, "no token, or an unknown one")
	// ErrForbidden: the token's role does not allow this.
	ErrForbidden = sentinel("forbidden", 403, "the token's role does not allow this")
	// ErrNotFound: no such job, workflow, instance, record or route.
	ErrNotFound = sentinel("not_found", 404, "no such job, workflow, instance, record or route")
	// ErrMethodNotAllowed: the route exists, but not with this method.
	ErrMethodNotAllowed = sentinel("method_not_allowed", 405, "the route exists, but not with this method")
	// ErrWrongState: the object's state does not allow this.
	ErrWrongState = sentinel("wrong_state", 409, "the object's state does not allow this")
	// ErrLeaseLost: the task is no longer leased to this worker with this token.
	ErrLeaseLost = sentinel("lease_lost", 409, "the task is no longer leased to this worker with this token")
	// ErrWrongRuntime: the registry says that another runtime owns this type.
	ErrWrongRuntime = sentinel("wrong_runtime", 409, "the registry says that another runtime owns this type")
	// ErrConflict: the same name already stands for something else.
	ErrConflict = sentinel("conflict", 409, "the same name already stands for something else")
	// ErrTooMany: more at once than is allowed; try again later.
	ErrTooMany = sentinel("too_many", 429, "more at once than is allowed; try again later")
	// ErrUnreachable: the store or server could not be reached; try again later.
	ErrUnreachable = sentinel("unreachable", 503, "the store or server could not be reached; try again later")
	// ErrBusy: somebody else holds a lock; try again later.
	ErrBusy = sentinel("busy", 503, "somebody else holds a lock; try again later")
	// ErrStoreFull: the disk, or the database's own limit, is full.
	ErrStoreFull = sentinel("store_full", 503, "the disk, or the database's own limit, is full")
	// ErrReadOnly: the store cannot be written to.
	ErrReadOnly = sentinel("read_only", 503, "the store cannot be written to")
	// ErrSchemaNewer: a newer Cairn has written here; nothing was touched.
	ErrSchemaNewer = sentinel("schema_newer", 503, "a newer Cairn has written here; nothing was touched")
	// ErrSchemaOlder: the tables are older than this library, and migrating was turned off.
	ErrSchemaOlder = sentinel("schema_older", 503, "the tables are older than this library, and migrating was turned off")
	// ErrNotADatabase: the file is something else.
	ErrNotADatabase = sentinel("not_a_database", 503, "the file is something else")
	// ErrStore: the database said no.
	ErrStore = sentinel("store", 500, "the database said no")
	// ErrOutOfMemory: memory ran out; nothing was written.
	ErrOutOfMemory = sentinel("out_of_memory", 503, "memory ran out; nothing was written")
	// ErrClosed: the engine is closing.
	ErrClosed = sentinel("closed", 503, "the engine is closing")
	// ErrInternal: a bug in Cairn; please report it.
	ErrInternal = sentinel("internal", 500, "a bug in Cairn; please report it")
	// ErrSuspended: the function goes on later; its code passes this on.
	ErrSuspended = sentinel("suspended", 500, "the function goes on later; its code passes this on")
	// ErrStepFailed: a step of a function has no call left.
	ErrStepFailed = sentinel("step_failed", 500, "a step of a function has no call left")
	// ErrTimedOut: what was waited for did not come in time.
	ErrTimedOut = sentinel("timed_out", 500, "what was waited for did not come in time")
	// ErrVersionMismatch: the function's code is not the one whose steps are remembered.
	ErrVersionMismatch = sentinel("version_mismatch", 409, "the function's code is not the one whose steps are remembered")
)

// codes has the sentinel of each code.
var codes = map[string]*Error{
	"bad_input":          ErrBadInput.(*Error),
	"bad_json":           ErrBadJSON.(*Error),
	"too_large":          ErrTooLarge.(*Error),
	"unauthorized":       ErrUnauthorized.(*Error),
	"forbidden":          ErrForbidden.(*Error),
	"not_found":          ErrNotFound.(*Error),
	"method_not_allowed": ErrMethodNotAllowed.(*Error),
	"wrong_state":        ErrWrongState.(*Error),
	"lease_lost":         ErrLeaseLost.(*Error),
	"wrong_runtime":      ErrWrongRuntime.(*Error),
	"conflict":           ErrConflict.(*Error),
	"too_many":           ErrTooMany.(*Error),
	"unreachable":        ErrUnreachable.(*Error),
	"busy":               ErrBusy.(*Error),
	"store_full":         ErrStoreFull.(*Error),
	"read_only":          ErrReadOnly.(*Error),
	"schema_newer":       ErrSchemaNewer.(*Error),
	"schema_older":       ErrSchemaOlder.(*Error),
	"not_a_database":     ErrNotADatabase.(*Error),
	"store":              ErrStore.(*Error),
	"out_of_memory":      ErrOutOfMemory.(*Error),
	"closed":             ErrClosed.(*Error),
	"internal":           ErrInternal.(*Error),
	"suspended":          ErrSuspended.(*Error),
	"step_failed":        ErrStepFailed.(*Error),
	"timed_out":          ErrTimedOut.(*Error),
	"version_mismatch":   ErrVersionMismatch.(*Error),
}
