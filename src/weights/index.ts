/**
 * Weights on disk: safetensors files, which are validated and read by offset, never loaded completely. Also the
 * directories of models and training runs with base model, adapter and tokenizer; downloads; and merging.
 */
export {
  type Adapter,
  type AdapterDirectory,
  hasAdapter,
  type LoraDelta,
  openAdapter,
  requireFit,
  requirePairFits,
} from './adapter.js'
export {type CacheEntry, listCache, prefixFolder, pruneCache} from './cache-contents.js'
export {isAbsent, type NeutralKeys, oneOf, unsupportedKey} from './config-keys.js'
export {derivedFiles, derivedFolder, derivedKey} from './derived-cache.js'
export type {FloatDtype} from './dtype.js'
export {FileDigests} from './file-digests.js'
export {foreignFormat} from './foreign-format.js'
export {type FusedMatrix, withParts, withPartsUpdated} from './fused.js'
export {architectureFor} from './gguf/architectures.js'
export type {GgufEntry} from './gguf/entries.js'
export {ggufModelName, ggufModels, ggufParts, isGgufName} from './gguf/gguf-file.js'
export {chatmlFormat, noFormat} from './handoff-file.js'
export {adapterRepositoryFiles} from './hub/adapter-files.js'
export {cachedModels, cachedSnapshot, hubCacheFolder, isModelId, snapshotPlace} from './hub/cache-layout.js'
export {type CachedModel, listCachedModels, removeCachedModel} from './hub/cached-models.js'
export type {HubOptions} from './hub/hub-request.js'
export {languageModelFiles} from './hub/language-files.js'
export {defaultRevision, type ModelName, parseModelName} from './hub/model-name.js'
export {
  type PulledModel,
  type PullOptions,
  type PullProgress,
  planPull,
  pullModel,
  pullPlanned,
} from './hub/pull.js'
export {oneFile, speechModelFiles} from './hub/speech-files.js'
export {type ImportedAdapter, importAdapter} from './import-adapter.js'
export {readJsonObject} from './json-file.js'
export {refusePointer, refusePointerFile} from './lfs-pointer.js'
export type {DescribeConfig, GgufDescription} from './merge/gguf-output.js'
export {type MergeRequest, type MergeResult, mergeAdapter} from './merge/merge-adapter.js'
export type {MergeAdapter, MergeSource} from './merge/merge-inputs.js'
export {type MergeMethodChoice, type MergeMethodName, mergeMethods} from './merge/merge-methods.js'
export {
  defaultsFile,
  type ModelDefaults,
  type ModelFile,
  type ModelParameters,
  mergeDefaults,
  modelParameters,
  type ParameterName,
  parameterFault,
  readModelFile,
} from './model-defaults.js'
export {type ImportedModelfile, readModelfile} from './modelfile.js'
export {floatToHalf} from './narrow.js'
export {isOllamaName, listOllamaModels, ollamaFolder, readOllamaModel} from './ollama-store.js'
export {quantizeBlocks, quantizeColumns, quantizedBlock, quantizeNibbles} from './quantize.js'
export {
  type BlockEntry,
  blocksCopy,
  type CopyOptions,
  columnsCopy,
  exactCopy,
  hasNibbles,
  isBlockEntry,
  nibblesCopy,
  type QuantizedCopy,
  type QuantizeProgress,
  withCopies,
} from './quantized-copies.js'
export {roundingError} from './rounding-error.js'
export {holdModel, openRunDirectory, type RunDirectory, type RunLookup} from './run-directory.js'
export {
  elements,
  readSafetensorsHeader,
  type TensorEntry,
} from './safetensors.js'
export {type TensorSource, writeSafetensors} from './safetensors-writer.js'
export {sha256Of} from './sha256.js'
export {commonFolder, hasShards, readShards, readTensorMap, type TensorMap} from './shards.js'
export {orderedSizes, type StoredOrder} from './stored-order.js'
export {
  readTensorFloat32,
  readTensorsFloat32,
  refuseOtherThanFloats,
  refuseOtherThanWeights,
} from './weight-rows.js'
export {halfToFloat, widenFloats} from './widen.js'
