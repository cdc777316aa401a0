/**
 * Preloaded with `--expose-gc`: collects all garbage twice a second, so that an object that native code frees too early
 * ends a test and not the process of a user.
 */
setInterval(() => globalThis.gc?.(), 500).unref()
