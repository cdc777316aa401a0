/**
 * Weights on disk: safetensors files, read by position and checked before use, and the directories that training and
 * downloads leave behind: base model, adapter, tokenizer. Nothing here loads a whole file.
 */
export type {Adapter, LoraDelta} from './adapter.js'
export {type DerivedFile, derivedFile, derivedFolder} from './derived-cache.js'
export {readJsonObject} from './json-file.js'
export {quantizeBlocks, quantizeColumns, quantizedBlock} from './quantize.js'
export {openRunDirectory, type RunDirectory, type RunLookup} from './run-directory.js'
export {type Dtype, dtypeBytes, readSafetensorsHeader, readTensorFloat32, type TensorEntry} from './safetensors.js'
export {type TensorSource, writeSafetensors} from './safetensors-writer.js'
export {commonFolder, readShards, readTensorMap, type TensorMap} from './shards.js'
export {widenFloats} from './widen.js'
