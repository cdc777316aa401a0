/**
 * Preloaded with `--expose-gc`: collects garbage many times a second, so that an object that native code frees too early
 * ends a test and not the process of a user.
 */
setInterval(() => globalThis.gc?.(), 50).unref()
