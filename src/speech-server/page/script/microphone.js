/** The microphone as 16-bit samples, mono at 16 kHz. */
import {Resampler} from './resampler.js'

/** Program of the audio thread. Its source is put into the module of the worklet, so it refers to nothing outside. */
function registerRecorder(Resampler) {
  class Recorder extends AudioWorkletProcessor {
    #resampler = new Resampler(sampleRate)
    /** Messages of 100 ms: one per block of 128 samples would be too many. */
    #message = new Int16Array(1600)
    #filled = 0
    #isStopped = false

    constructor() {
      super()
      this.port.onmessage = () => {
        this.#isStopped = true
        this.#take(this.#resampler.flush())
        this.port.postMessage(this.#message.slice(0, this.#filled))
        this.port.postMessage(undefined)
      }
    }

    process([channels]) {
      if (this.#isStopped) return false
      const [first] = channels
      if (first === undefined) return true
      const mono = first.map((_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length)
      this.#take(this.#resampler.push(mono))
      return true
    }

    #take(samples) {
      for (const sample of samples) {
        this.#message[this.#filled++] = Math.round(32_767 * Math.max(-1, Math.min(1, sample)))
        if (this.#filled < this.#message.length) continue
        this.port.postMessage(this.#message.slice())
        this.#filled = 0
      }
    }
  }
  registerProcessor('recorder', Recorder)
}

/**
 * Opens the microphone.
 * @param onSamples called with each piece of audio
 * @param onEnd called if the device ends by itself, for instance because it was unplugged
 */
export async function openMicrophone(onSamples, onEnd) {
  // This processing is made for listeners. Models are trained on unprocessed speech, and recognise it better.
  const audio = {channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false}
  const stream = await navigator.mediaDevices.getUserMedia({audio}).catch((error) => {
    throw new Error(reasons[error.name] ?? `The microphone cannot be opened: ${error.message}`)
  })
  const context = new AudioContext()
  const close = () => {
    for (const track of stream.getTracks()) track.stop()
    return context.close()
  }
  try {
    const source = `(${registerRecorder})(${Resampler})`
    const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}))
    await context.audioWorklet.addModule(url)
    URL.revokeObjectURL(url)
    const node = new AudioWorkletNode(context, 'recorder', {numberOfOutputs: 0})
    let onStopped
    const stopped = new Promise((resolve) => {
      onStopped = resolve
    })
    node.port.onmessage = ({data}) => (data === undefined ? onStopped() : onSamples(data))
    await context.resume()
    context.createMediaStreamSource(stream).connect(node)
    for (const track of stream.getTracks()) track.onended = onEnd
    return {
      /** Closes the microphone after its last samples. */
      async stop() {
        node.port.postMessage('stop')
        await stopped
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

const reasons = {
  NotAllowedError: 'The browser does not allow this page to use the microphone. Allow it in the site settings.',
  NotFoundError: 'There is no microphone. Connect one, or choose a file.',
  NotReadableError: 'The microphone is in use by another program.',
}
