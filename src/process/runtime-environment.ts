/**
 * Sets variables of ONNX Runtime. They must be set before the runtime is loaded, and on the main thread: a worker has a
 * copy of the environment that the runtime does not read. Users override them.
 *
 * - `ORT_DISABLE_TELEMETRY`: the runtime does not report which models are run.
 * - `ORT_GQA_DISABLE_FLASH_ATTENTION`: the tiled form of attention takes twice as long for prompts, and longer for batches.
 */
export function setRuntimeEnvironment(): void {
  process.env.ORT_DISABLE_TELEMETRY ??= '1'
  process.env.ORT_GQA_DISABLE_FLASH_ATTENTION ??= '1'
}
