import type {Command} from '@oclif/core'
import {Flags} from '@oclif/core'
import {engineSettings, hubSettings} from '../config/index.js'
import type {Engine, EngineOptions, GenerateSummary} from '../llm/index.js'
import {inGroup} from './flag-groups.js'
import {HubCommand} from './hub-command.js'
import {baseFlags, chatFlags, chosenDefaults, ignoreConfigKeyFlag} from './model-flag.js'
import {showQuantising, withProgress} from './progress.js'
import {type ReplyStats, replyStats} from './reply-stats.js'
import {thinkingFlags} from './thinking-text.js'

/** Flags of commands that load a language model and let it reply. */
export const replyFlags = {
  stats: Flags.boolean({description: 'Print speed, memory, precision and types of weights to standard error.'}),
  ...inGroup('model', {...baseFlags, 'ignore-config-key': ignoreConfigKeyFlag}),
  ...chatFlags,
  ...thinkingFlags,
  ...inGroup('generation', {
    seed: Flags.integer({
      description: 'Sampling seed. (default: random)',
      min: 0,
      max: 2 ** 32 - 1,
      helpValue: 'N',
    }),
    stop: Flags.string({
      description: 'Stop sequence, not included in the output; may be repeated.',
      helpValue: 'TEXT',
      multiple: true,
      multipleNonGreedy: true,
    }),
  }),
}

type ReplyFlags = {
  quiet: boolean
  stats: boolean | undefined
  system: string | undefined
  set: string[] | undefined
  seed: number | undefined
  stop: string[] | undefined
  base: string | undefined
  'no-adapter': boolean
  'chat-template': string | undefined
  'ignore-config-key': string[] | undefined
}

/** Base of commands that load a language model in this process and let it reply. */
export abstract class LanguageModelCommand<T extends typeof Command = typeof Command> extends HubCommand<T> {
  /** Loads a model as the flags of `replyFlags` and the settings say. @throws what `startEngine` throws */
  protected async loadModel(model: string, options: Pick<EngineOptions, 'prefixBytes'> = {}): Promise<Engine> {
    const {startEngine} = await import('../llm/index.js')
    const flags = this.flags as unknown as ReplyFlags
    const {threads, precision, numCtx, promptLookup} = this.settings(engineSettings)
    const choices: EngineOptions = {
      ...options,
      threads,
      precision,
      numCtx,
      promptLookup,
      ...this.#lookup(),
      chatTemplate: flags['chat-template'],
      onProgress: showQuantising,
      log: this.logOptions(),
      signal: this.signal,
    }
    return withProgress('Loading the model', !flags.quiet, () => startEngine(model, choices))
  }

  #lookup() {
    const {base, 'no-adapter': baseOnly, 'ignore-config-key': ignoreConfigKeys} = this.flags as unknown as ReplyFlags
    return {cacheFolder: this.settings(hubSettings).hubCache, base, baseOnly, ignoreConfigKeys}
  }

  /**
   * Figures of a reply; with `--stats`, also the types of the weights, which are read for that.
   * @param model as for `loadModel`
   */
  protected async replyStats(
    model: string,
    engine: Engine,
    summary: GenerateSummary,
    firstTokenMs: number,
  ): Promise<ReplyStats> {
    const stats = replyStats(engine, summary, firstTokenMs)
    if ((this.flags as unknown as ReplyFlags).stats !== true) return stats
    const {modelWeightTypes} = await import('../llm/index.js')
    const types = await modelWeightTypes(model, this.#lookup(), engine.description.precision)
    return {
      ...stats,
      weights: types.map(({type, bytes, roundingError}) => ({type, bytes, error: roundingError ?? null})),
    }
  }

  /** What the user has chosen, by flags and settings. It precedes the defaults of the model. @throws flag_value, usage */
  protected chosenDefaults(): ReturnType<typeof chosenDefaults> {
    return chosenDefaults(this.flags as unknown as ReplyFlags, this.chosenSettings(engineSettings))
  }
}
