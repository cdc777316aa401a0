import {existsSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {type Device, physicalCores, requireDevice} from '../../onnx/index.js'
import {type QuantizeProgress, readJsonObject} from '../../weights/index.js'
import {isCtc, waveformTypes} from '../ctc/model-type.js'
import type {SpeechModel} from '../model/model.js'

export interface OpenSpeechModelOptions {
  /** Name that the user specified. */
  name: string
  /** Number of threads; 0 uses one per physical core. */
  threads: number
  /** The threads are divided among the `instances` of the description. */
  sharesThreads?: boolean | undefined
  device: Device
  precision: 'auto' | 'f32' | 'int8'
  /** Accepted model families: only Whisper, or any. */
  backend?: 'auto' | 'whisper' | 'onnx-whisper'
  /** Directory for files that are derived from models. */
  derivedFolder: string
  /** Called while weights are quantised, which happens when the model is first loaded. */
  onProgress?: ((progress: QuantizeProgress) => void) | undefined
}

/**
 * Opens a speech model: a Whisper or CTC model directory in Hugging Face layout, or a whisper.cpp file.
 * @throws speech_model_unknown, speech_backend_mismatch, device_unavailable; what the families throw
 */
export async function openSpeechModel(path: string, options: OpenSpeechModelOptions): Promise<SpeechModel> {
  await requireDevice(options.device)
  const open = {...options, threads: options.threads === 0 ? physicalCores() : options.threads}
  const model = await (isFile(path) ? openFile(path, open) : openFolder(path, open))
  logFirstLoad(options.device)
  return model
}

const isFile = (path: string) => existsSync(path) && !statSync(path).isDirectory()

/** True for files, which must be in whisper.cpp format. */
async function openFile(file: string, options: OpenSpeechModelOptions): Promise<SpeechModel> {
  const [{importGgml}, {openWhisper}] = await Promise.all([
    import('../whisper/ggml-import.js'),
    import('../whisper/open-whisper.js'),
  ])
  const model = await openWhisper(await importGgml(file, options.derivedFolder), {...options, source: file})
  return {...model, description: {...model.description, path: file}}
}

async function openFolder(folder: string, options: OpenSpeechModelOptions): Promise<SpeechModel> {
  const file = join(folder, 'config.json')
  if (!existsSync(file)) throw new SvcError('model_file_missing', {file: 'config.json', tried: [file]})
  const config = await readJsonObject(file)
  // Each family is loaded only for its models: a thread starts faster without the others.
  if (isWhisper(config)) return (await import('../whisper/open-whisper.js')).openWhisper(folder, options)
  if (isCtc(config)) {
    const {name, backend = 'auto'} = options
    if (backend !== 'auto') throw new SvcError('speech_backend_mismatch', {model: name, backend})
    return (await import('../ctc/open-ctc.js')).openCtc(folder, options)
  }
  throw new SvcError('speech_model_unknown', {path: folder, found: `its model_type is ${String(config.model_type)}`})
}

/** Family of the model of a path, from its configuration alone; undefined if that is missing or invalid. */
export async function speechModelFamily(path: string): Promise<'whisper' | 'ctc' | undefined> {
  const file = join(path, 'config.json')
  if (!existsSync(file)) return undefined
  const config = await readJsonObject(file).catch(() => ({}))
  return isCtc(config) ? 'ctc' : 'whisper'
}

/** The values of `model_type` of speech models. */
export const speechModelTypes: readonly string[] = ['whisper', ...waveformTypes]

/** Whether a `config.json` is that of a speech model. */
export const isSpeechModel = (config: Readonly<Record<string, unknown>>): boolean => isWhisper(config) || isCtc(config)

const isWhisper = (config: Readonly<Record<string, unknown>>) =>
  config.model_type === 'whisper' ||
  (config.model_type === undefined && 'num_mel_bins' in config && 'd_model' in config)

let logged = false

/** Logs the compute device, once per process. */
function logFirstLoad(device: Device): void {
  if (logged) return
  logged = true
  const event = device === 'cpu' ? 'speech_inference_cpu_default' : 'speech_inference_gpu'
  logger('speech_gpu').info({device}, event)
}
