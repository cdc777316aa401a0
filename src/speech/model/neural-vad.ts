import {isVadModel, type NeuralVadOptions, neuralVad, type VoiceActivityDetector} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {modelPath, openSession, tensor} from '../../onnx/index.js'
import {refusePointerFile} from '../../weights/index.js'

/** A loaded voice activity detection model; each detector has its own state. */
export interface OpenVadModel {
  detector(options: NeuralVadOptions): VoiceActivityDetector
  release(): Promise<void>
}

/** Opens the ONNX file of a neural voice activity detector. @throws file_not_found, model_file_invalid, lfs_pointer */
export async function openVadModel(path: string): Promise<OpenVadModel> {
  const file = await modelPath(path).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const session = await openSession(file, {threads: 1}).catch(async (error: Error) => {
    await refusePointerFile(path)
    throw new SvcError('model_file_invalid', {file: path, reason: error.message.replace(/\.$/, '')}, {cause: error})
  })
  const inputNames = session.inputs.map(({name}) => name)
  if (!isVadModel(inputNames)) {
    await session.release()
    const reason = `its inputs ${inputNames.join(', ')} are not those of Silero VAD`
    throw new SvcError('model_file_invalid', {file: path, reason})
  }
  const model = {
    inputNames,
    async run(
      feeds: Parameters<Parameters<typeof neuralVad>[0]['run']>[0],
      fetches: readonly string[],
    ): Promise<Record<string, Float32Array>> {
      const tensors = Object.entries(feeds).map(([name, {data, dims}]) => [name, tensor(data, dims)] as const)
      const wanted = Object.fromEntries(fetches.map((name) => [name, null]))
      const results = await session.run(Object.fromEntries(tensors), wanted)
      return Object.fromEntries(fetches.map((name) => [name, results[name]?.data as Float32Array]))
    },
  }
  return {detector: (options) => neuralVad(model, options), release: () => session.release()}
}
