import {existsSync} from 'node:fs'
import {copyFile, mkdir, readdir, writeFile} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {isBlockDtype} from '../block-types.js'
import {
  generationFile,
  readDeclarations,
  specialTokensFile,
  templateFile,
  tokenizerFile,
  toolTemplateFile,
} from '../declarations.js'
import type {FloatDtype} from '../dtype.js'
import {dtypeBytes, isDtype} from '../dtype.js'
import {readJsonObject} from '../json-file.js'
import {elements} from '../safetensors.js'
import {weightBytes} from '../weight-rows.js'
import {findFirst} from './merge-inputs.js'
import type {MergePlan, PlannedTensor} from './merge-plan.js'

/** Files of a model that are copied if they exist. */
const companions = ['tokenizer.json', 'added_tokens.json', 'vocab.json', 'merges.txt', 'tokenizer.model']
const licence = /^(licen[cs]e|notice)/i

export interface DirectoryChoices {
  folders: readonly string[]
  untied: boolean
  dtype: FloatDtype | undefined
}

/**
 * Writes a complete model directory in Hugging Face layout: shards with the same tensors as those of the base model, an
 * index if there are several, configuration and tokenizer.
 * @param write writes one shard
 * @throws model_file_missing, model_file_invalid; what `write` throws
 */
export async function writeModelDirectory(
  folder: string,
  plan: MergePlan,
  choices: DirectoryChoices,
  write: (file: string, tensors: readonly PlannedTensor[]) => Promise<void>,
): Promise<void> {
  await mkdir(folder)
  const config = await mergedConfig(choices)
  const shards = shardsOf(plan.tensors)
  for (const [name, tensors] of shards) await write(join(folder, name), tensors)
  if (shards.size > 1) await writeJson(join(folder, 'model.safetensors.index.json'), indexOf(shards))
  await writeJson(join(folder, 'config.json'), config)
  await copyCompanions(folder, choices.folders)
  await writeDeclarations(folder, choices.folders)
}

/** The tensors of each shard by file name; one shard per shard of the base model. */
export function shardsOf(tensors: readonly PlannedTensor[]): Map<string, PlannedTensor[]> {
  const files = [...new Set(tensors.map(({from}) => from.file))]
  const digits = (count: number) => String(count).padStart(5, '0')
  const names = new Map(
    files.map((file, i) => [
      file,
      files.length === 1 ? 'model.safetensors' : `model-${digits(i + 1)}-of-${digits(files.length)}.safetensors`,
    ]),
  )
  const shards = new Map<string, PlannedTensor[]>([...names.values()].map((name) => [name, []]))
  for (const tensor of tensors) shards.get(names.get(tensor.from.file) as string)?.push(tensor)
  return shards
}

const indexOf = (shards: ReadonlyMap<string, readonly PlannedTensor[]>) => ({
  metadata: {total_size: [...shards.values()].flat().reduce((sum, tensor) => sum + byteLength(tensor), 0)},
  weight_map: Object.fromEntries([...shards].flatMap(([file, tensors]) => tensors.map(({name}) => [name, file]))),
})

export function byteLength({from, dtype}: PlannedTensor): number {
  if (isDtype(dtype)) return elements(from.shape) * dtypeBytes(dtype)
  return isBlockDtype(dtype) ? weightBytes(dtype, elements(from.shape)) : from.length
}

/** dtype names in `config.json`. */
const dtypeNames = {F32: 'float32', F16: 'float16', BF16: 'bfloat16'} as const

export async function mergedConfig({folders, untied, dtype}: DirectoryChoices): Promise<Record<string, unknown>> {
  const config = await readJsonObject(required(folders, 'config.json'))
  required(folders, 'tokenizer.json')
  const key = 'dtype' in config ? 'dtype' : 'torch_dtype'
  return {
    ...config,
    ...(untied ? {tie_word_embeddings: false} : {}),
    ...(dtype === undefined ? {} : {[key]: dtypeNames[dtype]}),
  }
}

/** Writes a configuration with untied embeddings next to the tensors; an existing one is not changed. */
export async function copyUntiedConfig(folder: string, folders: readonly string[]): Promise<void> {
  const config = findFirst(folders, 'config.json')
  const copy = join(folder, 'config.json')
  if (config === undefined || existsSync(copy)) return
  await writeJson(copy, {...(await readJsonObject(config)), tie_word_embeddings: false})
}

function required(folders: readonly string[], name: string): string {
  const file = findFirst(folders, name)
  if (file !== undefined) return file
  throw new SvcError('model_file_missing', {file: name, tried: folders.map((folder) => join(folder, name))})
}

async function copyCompanions(folder: string, folders: readonly string[]): Promise<void> {
  const licences = (await Promise.all(folders.map((one) => readdir(one)))).flat().filter((name) => licence.test(name))
  for (const name of new Set([...companions, ...licences])) {
    const file = findFirst(folders, name)
    if (file !== undefined) await copyFile(file, join(folder, basename(name)))
  }
}

/**
 * Writes the settings of tokenizer, template and generation as one statement, if several folders make one. Otherwise, a
 * file of the base could override a setting of the run in another file.
 */
async function writeDeclarations(folder: string, folders: readonly string[]): Promise<void> {
  const {tokenizer, template, generation} = await readDeclarations(folders)
  const isText = template?.file.endsWith(templateFile) === true && typeof template.declared === 'string'
  const withTemplate = isText || template === undefined ? tokenizer : {...tokenizer, chat_template: template.declared}
  const copyOr = async (files: readonly string[], write: () => Promise<void>) => {
    const sources = folders.filter((from) => files.some((file) => existsSync(join(from, file))))
    const [from] = sources
    if (from === undefined) return
    if (sources.length > 1) return write()
    for (const file of files) {
      if (!existsSync(join(from, file))) continue
      await mkdir(dirname(join(folder, file)), {recursive: true})
      await copyFile(join(from, file), join(folder, file))
    }
  }
  await copyOr([tokenizerFile, specialTokensFile, templateFile, toolTemplateFile], async () => {
    await writeJson(join(folder, tokenizerFile), withTemplate)
    if (isText) await writeFile(join(folder, templateFile), String(template.declared), {flag: 'wx', flush: true})
  })
  await copyOr([generationFile], () => writeJson(join(folder, generationFile), generation))
}

/** Syncs the file, because all files must be on disk before the folder gets its final name. */
export const writeText = (file: string, text: string) => writeFile(file, text, {flag: 'wx', flush: true})

const writeJson = (file: string, value: object) => writeText(file, `${JSON.stringify(value, undefined, 2)}\n`)
