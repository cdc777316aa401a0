import {existsSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {speechSettings} from '../config/index.js'

/** True if a value of `SVC_SPEECH_CUDA` selects the CUDA provider. */
export const cudaRequested = (value = ''): boolean => speechSettings.rows.device.type.parse(value.trim()) === 'cuda'

/** True if the CUDA provider is installed next to the runtime, whose package contains only the CPU one. Loads nothing. */
export function cudaInstalled(): boolean {
  const {resolve} = createRequire(import.meta.url)
  const name = process.platform === 'win32' ? 'onnxruntime_providers_cuda.dll' : 'libonnxruntime_providers_cuda.so'
  const root = dirname(resolve('onnxruntime-node/package.json'))
  return existsSync(join(root, 'bin', 'napi-v6', process.platform, process.arch, name))
}
