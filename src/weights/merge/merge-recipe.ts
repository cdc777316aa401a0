import {basename} from 'node:path'
import {derivedFolder} from '../derived-cache.js'
import {FileDigests} from '../file-digests.js'
import type {MergeInputs} from './merge-inputs.js'
import type {MergeMethodChoice} from './merge-methods.js'

/** From what, and how, a model was merged. */
export interface MergeRecipe {
  format: 'svc.merge-recipe.v1'
  method: MergeMethodChoice['name']
  density?: number
  seed?: number
  /** Path or id, and the files with the weights. */
  base: {model: string; files: FileDigest[]}
  adapters: (FileDigest & {weight: number; rank: number; manifest: FileDigest})[]
}

interface FileDigest {
  name: string
  sha256: string
}

export const recipeFile = 'merge_recipe.json'
export const cardFile = 'README.md'

/** @throws file_not_found, file_unreadable */
export async function recipeOf(
  {base, adapters, baseModel}: MergeInputs,
  {name: method, density, seed}: MergeMethodChoice,
): Promise<MergeRecipe> {
  const digests = new FileDigests(derivedFolder(process.env))
  const digestOf = async (file: string) => ({name: basename(file), sha256: await digests.of(file)})
  const files = [...new Set([...base.values()].map(({file}) => file))].sort()
  return {
    format: 'svc.merge-recipe.v1',
    method,
    ...(method === 'linear' ? {} : {density}),
    ...(method === 'dare' ? {seed} : {}),
    base: {model: baseModel, files: await Promise.all(files.map(digestOf))},
    adapters: await Promise.all(
      adapters.map(async ({adapter, manifest, weight}) => ({
        ...(await digestOf(adapter.file)),
        weight,
        rank: manifest.rank,
        manifest: await digestOf(manifest.file),
      })),
    ),
  }
}

/** The model card, in the form of Hugging Face. */
export function cardOf({method, density, seed, base, adapters}: MergeRecipe): string {
  const options = [density === undefined ? [] : `density ${density}`, seed === undefined ? [] : `seed ${seed}`].flat()
  const rows = adapters.map(({name, weight, rank, sha256}) => `| ${name} | ${weight} | ${rank} | ${sha256} |`)
  return `---
base_model: ${JSON.stringify(base.model)}
tags:
  - merge
---

# Merged model

LoRA adapters were merged into the base model ${base.model}. Method: ${[method, ...options].join(', ')}.

| Adapter | Weight | Rank | SHA-256 |
| --- | --- | --- | --- |
${rows.join('\n')}

\`${recipeFile}\` has the digests of all files.
`
}
