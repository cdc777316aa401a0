/**
 * Disables the telemetry of ONNX Runtime, which reports the models that are run. The variable must be set before the
 * runtime is loaded, and on the main thread: a worker has a copy of the environment that the runtime does not read.
 * Users enable telemetry with `ORT_DISABLE_TELEMETRY=0`.
 */
process.env.ORT_DISABLE_TELEMETRY ??= '1'
