import {stat} from 'node:fs/promises'
import {type AudioInput, type AudioStream, type OpenAudioOptions, openAudio} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import type {TranscriberOptions} from './options.js'

/** Audio to transcribe; channels that are transcribed separately have a speaker. */
export interface Channel {
  audio: AudioStream
  speaker?: string | undefined
}

/** Opens a recording; with split channels, once per channel. @throws channels_need_file; what `openAudio` throws */
export async function openChannels(
  input: AudioInput,
  {channels = 'mix', speakers = []}: Pick<TranscriberOptions, 'channels' | 'speakers'>,
  options: OpenAudioOptions,
): Promise<Channel[]> {
  if (channels !== 'split')
    return [{audio: await openAudio(input, {...options, channel: channels === 'mix' ? undefined : channels})}]
  if (!('path' in input)) throw new SvcError('channels_need_file', {file: input.name})
  if (!(await isRegularFile(input.path))) throw new SvcError('channels_need_file', {file: input.name ?? input.path})
  const opened: Channel[] = []
  try {
    for (let channel = 1; channel <= (opened[0]?.audio.source.channels ?? 1); channel++) {
      const audio = await openAudio(input, {...options, channel})
      opened.push({audio, speaker: speakers[channel - 1] ?? `Channel ${channel}`})
    }
    return opened
  } catch (error) {
    for (const {audio} of opened) await audio[Symbol.asyncIterator]().return?.()
    throw error
  }
}

/** True also for paths that cannot be opened as a file, which has its own error. */
export const isRegularFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found === undefined || found.isFile() || found.isDirectory()
}
