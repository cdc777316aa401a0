import {readFile} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {physicalCores} from '../onnx/index.js'
import {ChatTemplate, createTokenizer, declaredTemplate, type Tokenizer} from '../text/index.js'
import {type ModelDirectory, openModelDirectory, readJsonObject} from '../weights/index.js'
import {openDecoder} from './decoder.js'
import {readDecoderSpec} from './families/index.js'
import {type GenerateEvent, type GenerateRequest, generate} from './generation.js'

export interface LoadOptions {
  /** Threads that compute; 0 takes one per physical core. */
  threads: number
  /** Context length in tokens; 0 takes the model's own, up to 8192. Never more than the model's own. */
  numCtx: number
}

/** A model that is loaded, in the calling thread: its computation blocks that thread step by step. */
export interface LanguageModel {
  readonly name: string
  readonly contextLength: number
  /**
   * Generates text, piece by piece; the last event sums up.
   * @throws prompt_missing, prompt_empty, prompt_too_long, chat_template_failed; the reason of the signal
   */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined>
  release(): Promise<void>
}

const defaultContext = 8192

/**
 * Loads a model directory: no export step, the shards are mapped as they are.
 * @param model path of the directory, or id of a model in the local Hugging Face cache
 * @throws every error of `openModelDirectory`, `readDecoderSpec` and `openDecoder`
 */
export async function loadLanguageModel(
  model: string,
  {threads, numCtx}: LoadOptions = {threads: 0, numCtx: 0},
): Promise<LanguageModel> {
  const directory = await openModelDirectory(model)
  const config = await readJsonObject(directory.config)
  const spec = readDecoderSpec(config, directory.config)
  const [tokenizer, template] = await readText(directory)
  const generationConfig =
    directory.generationConfig === undefined ? {} : await readJsonObject(directory.generationConfig)
  const decoder = await openDecoder(spec, directory.tensors, {
    contextLength: Math.min(numCtx || defaultContext, spec.contextLength),
    threads: threads || physicalCores(),
  })
  const parts = {decoder, tokenizer, endTokens: endTokens(tokenizer, config, generationConfig)}
  return {
    name: directory.name,
    contextLength: decoder.contextLength,
    async *generate(request, signal) {
      yield* generate(parts, encodePrompt(tokenizer, template, request), request, signal)
    },
    release: () => decoder.release(),
  }
}

async function readText(directory: ModelDirectory): Promise<[Tokenizer, ChatTemplate | undefined]> {
  const {tokenizer: file, tokenizerConfig, chatTemplate} = directory
  const config = tokenizerConfig === undefined ? {} : await readJsonObject(tokenizerConfig)
  const tokenizer = createTokenizer(await readJsonObject(file), config, file)
  if (chatTemplate !== undefined)
    return [tokenizer, new ChatTemplate(await readFile(chatTemplate, 'utf8'), chatTemplate)]
  const declared = declaredTemplate(config)
  return [tokenizer, declared === undefined ? undefined : new ChatTemplate(declared, tokenizerConfig ?? file)]
}

/** Ends of a text: what the configurations and the tokenizer name, and the ends of a turn that chat models share. */
function endTokens(tokenizer: Tokenizer, ...configs: readonly Readonly<Record<string, unknown>>[]): Set<number> {
  const declared = configs.flatMap(({eos_token_id: id}) => [id].flat())
  const known = [tokenizer.eos, '<|im_end|>', '<|endoftext|>', '<|eot_id|>'].map((token) =>
    token === undefined ? undefined : tokenizer.id(token),
  )
  return new Set([...declared, ...known].filter((id): id is number => Number.isSafeInteger(id)))
}

function encodePrompt(
  tokenizer: Tokenizer,
  template: ChatTemplate | undefined,
  {prompt, raw}: Pick<GenerateRequest, 'prompt' | 'raw'>,
): number[] {
  if (prompt === '') throw new SvcError('prompt_empty', {})
  if (prompt === undefined) return beginning(tokenizer, raw)
  if (raw) return tokenizer.encode(prompt, {special: true})
  if (template === undefined) {
    logger('llm').warn('The model has no chat template: the prompt is sent as it is.')
    return tokenizer.encode(prompt, {special: true})
  }
  return tokenizer.encode(template.render([{role: 'user', content: prompt}], tokenizer), {special: false})
}

function beginning(tokenizer: Tokenizer, raw: boolean): number[] {
  const bos = tokenizer.bos === undefined ? undefined : tokenizer.id(tokenizer.bos)
  if (!raw || bos === undefined) throw new SvcError('prompt_missing', {})
  return [bos]
}
