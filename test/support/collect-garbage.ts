/**
 * Preloaded with `--expose-gc`: collects all garbage twice a second, so that a premature release in native code fails a
 * test.
 */
setInterval(() => globalThis.gc?.(), 500).unref()
