/**
 * Weights on disk: safetensors files, read by position and checked before use, and the model directories that hold
 * them. Nothing here loads a whole file.
 */

export {readJsonObject} from './json-file.js'
export {commonFolder, type ModelDirectory, openModelDirectory} from './model-directory.js'
export {type Dtype, dtypeBytes, readSafetensorsHeader, readTensorFloat32, type TensorEntry} from './safetensors.js'
