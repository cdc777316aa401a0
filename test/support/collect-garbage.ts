/**
 * Preloaded with `--expose-gc`: collects all garbage up to twice a second, so that a premature release in native code
 * fails a test. With a large heap, it takes at most a tenth of the time.
 */
const pauseMs = 500

function collect(): void {
  const start = performance.now()
  globalThis.gc?.()
  setTimeout(collect, Math.max(pauseMs, 9 * (performance.now() - start))).unref()
}

setTimeout(collect, pauseMs).unref()
