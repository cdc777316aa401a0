import type {Segment} from '../model/model.js'
import {joinTexts} from '../text/join-texts.js'
import type {TranscribeEvent, TranscribeTimings} from './options.js'

/** The transcription of one channel. */
export interface ChannelEvents {
  speaker: string | undefined
  events: AsyncGenerator<TranscribeEvent, void, undefined>
}

type DoneEvent = Extract<TranscribeEvent, {type: 'done'}>

/**
 * Merges the events of the channels of a recording to those of one transcription: segments in the order of their start,
 * each with its speaker. A channel is read until its next segment is known, so memory use does not depend on the
 * duration. Of several channels, alternatives are omitted: they are not those of the complete text.
 */
export async function* mergeChannels(
  channels: readonly ChannelEvents[],
): AsyncGenerator<TranscribeEvent, void, undefined> {
  const readers = channels.map((channel) => ({
    ...channel,
    next: undefined as Segment | undefined,
    done: undefined as DoneEvent | undefined,
    processedSec: 0,
  }))
  const segments: Segment[] = []
  let chunks = 0
  try {
    for (;;) {
      for (const reader of readers)
        while (reader.next === undefined && reader.done === undefined) {
          const {speaker} = reader
          const {value: event} = await reader.events.next()
          if (event === undefined) throw new Error('The transcription of a channel ended without a transcript.')
          if (event.type === 'segment') reader.next = {...event.segment, speaker}
          else if (event.type === 'done') reader.done = event
          else if (event.type === 'chunk')
            yield {...event, index: chunks++, segments: event.segments.map((segment) => ({...segment, speaker}))}
          else if (event.type === 'progress') {
            reader.processedSec = event.processedSec
            yield {...event, processedSec: sum(readers.map(({processedSec}) => processedSec)) / readers.length}
          } else yield event
        }
      const waiting = readers.filter(({next}) => next !== undefined)
      const [earliest] = waiting.sort((a, b) => (a.next as Segment).startSec - (b.next as Segment).startSec)
      if (earliest === undefined) break
      const segment = earliest.next as Segment
      earliest.next = undefined
      segments.push(segment)
      yield {type: 'segment', segment}
    }
    yield mergeResults(
      readers.map(({done}) => done as DoneEvent),
      segments,
    )
  } finally {
    for (const {events} of channels) await events.return()
  }
}

/** The language is that of the first channel with speech. */
function mergeResults(results: readonly DoneEvent[], segments: readonly Segment[]): DoneEvent {
  const transcripts = results.map(({transcript}) => transcript)
  const spoken = transcripts.find((transcript) => transcript.segments.length > 0) ?? transcripts[0]!
  const total = (name: keyof TranscribeTimings) => sum(results.map(({timings}) => timings[name]))
  return {
    type: 'done',
    transcript: {
      ...spoken,
      durationSec: Math.max(...transcripts.map(({durationSec}) => durationSec)),
      text: joinTexts(segments.map(({text}) => text)),
      segments,
      alternatives: results.length === 1 ? spoken.alternatives : [],
    },
    speechSec: sum(results.map(({speechSec}) => speechSec)),
    timings: {
      featuresMs: total('featuresMs'),
      encodeMs: total('encodeMs'),
      decodeMs: total('decodeMs'),
      wholeHeads: total('wholeHeads'),
      windows: total('windows'),
    },
  }
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
