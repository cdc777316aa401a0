import {type RecognitionOptions, sampleRate, type WindowResult} from '../model/model.js'

/** Maximum number of windows to keep. */
const maxWindows = 32

/** Maximum distance between the edges of windows that count as equal, samples. */
const tolerance = 0.05 * sampleRate

interface Known {
  from: number
  to: number
  options: string
  result: Promise<WindowResult>
}

/**
 * Results of earlier passes over the same audio with less of it available. More audio moves the detected boundaries of
 * speech by a frame or two, which does not change the text.
 */
export class WindowMemo {
  #known: Known[] = []

  /** Returns an earlier result for the samples `from` to `to`, or recognises them. */
  recognise(
    {from, to}: {from: number; to: number},
    recognition: RecognitionOptions,
    recognise: () => Promise<WindowResult>,
  ): Promise<WindowResult> {
    const options = JSON.stringify(recognition)
    const isNear = (a: number, b: number) => Math.abs(a - b) <= tolerance
    const known = this.#known.find((one) => isNear(one.from, from) && isNear(one.to, to) && one.options === options)
    if (known !== undefined) return known.result
    const added = {from, to, options, result: recognise()}
    this.#known = [...this.#known.slice(1 - maxWindows), added]
    added.result.catch(() => {
      this.#known = this.#known.filter((one) => one !== added)
    })
    return added.result
  }
}
