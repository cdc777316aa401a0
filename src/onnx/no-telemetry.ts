/**
 * ONNX Runtime tells its maker which models are run, unless it is told not to before it is loaded. Nothing here leaves
 * the machine unasked; who wants it sets `ORT_DISABLE_TELEMETRY=0`. A thread has a copy of the environment that the
 * runtime does not read, so whoever starts one has said it before.
 */
process.env.ORT_DISABLE_TELEMETRY ??= '1'
