import {type FileHandle, open, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {derivedFiles, writeSafetensors} from '../../weights/index.js'
import {type GgmlHeader, type GgmlTensor, readGgmlFile} from './ggml-file.js'
import {tokenizerOfTokens} from './ggml-tokenizer.js'
import {asFloats} from './ggml-types.js'

/** Must be changed to invalidate files converted by earlier versions. */
const recipe = 'ggml to hugging face 3'

/**
 * Converts a whisper.cpp model file to a folder in Hugging Face layout; the folder is cached.
 * @returns the folder
 * @throws model_file_invalid, file_not_found, cache_unwritable
 */
export const importGgml = (file: string, derivedFolder: string): Promise<string> =>
  derivedFiles({folder: derivedFolder, kind: 'converted', model: file, sources: [file], recipe}, (folder) =>
    convert(file, folder),
  )

async function convert(file: string, folder: string): Promise<void> {
  const {header, tokens, tensors} = await readGgmlFile(file)
  await writeFile(join(folder, 'config.json'), JSON.stringify(configOf(header)))
  await writeFile(join(folder, 'generation_config.json'), JSON.stringify(generationConfigOf(header)))
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerOfTokens(tokens, header.vocabSize)))
  const handle = await open(file)
  try {
    const sources = tensors.map((tensor) => ({
      name: publishedName(tensor.name),
      dtype: tensor.type === 'f32' ? ('F32' as const) : ('F16' as const),
      shape: publishedShape(tensor),
      data: async () => asFloats(tensor.type, await readTensor(handle, file, tensor)).data,
    }))
    await writeSafetensors(join(folder, 'model.safetensors'), sources, {source: basename(file)})
  } finally {
    await handle.close()
  }
}

/** Reads the bytes of a tensor; the file may have shrunk since its header was read. */
async function readTensor(handle: FileHandle, file: string, {name, length, offset}: GgmlTensor): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const {bytesRead} = await handle.read(bytes, at, length - at, offset + at)
    if (bytesRead === 0) throw new SvcError('model_file_invalid', {file, reason: `it ends within its tensor ${name}`})
    at += bytesRead
  }
  return bytes
}

/** Vocabulary size of the published English-only models; that of multilingual models is larger. */
const englishVocabulary = 51_864

/**
 * English-only models have language tokens as well and can be identified only by the vocabulary size. No published model
 * has a smaller vocabulary. Source: whisper.cpp.
 */
const generationConfigOf = ({vocabSize}: GgmlHeader) =>
  vocabSize < englishVocabulary ? {} : {is_multilingual: vocabSize > englishVocabulary}

const configOf = (header: GgmlHeader) => ({
  model_type: 'whisper',
  d_model: header.hiddenSize,
  encoder_layers: header.audioLayers,
  encoder_attention_heads: header.audioHeads,
  encoder_ffn_dim: 4 * header.hiddenSize,
  decoder_layers: header.textLayers,
  decoder_attention_heads: header.textHeads,
  decoder_ffn_dim: 4 * header.hiddenSize,
  vocab_size: header.vocabSize,
  num_mel_bins: header.melBins,
  max_source_positions: header.audioPositions,
  max_target_positions: header.textPositions,
})

/** Parts of tensor names in OpenAI's and in Hugging Face's checkpoints, applied in order. */
const renamed: readonly (readonly [RegExp, string])[] = [
  [/^/, 'model.'],
  [/\.blocks\./, '.layers.'],
  [/\.cross_attn_ln\./, '.encoder_attn_layer_norm.'],
  [/\.attn_ln\./, '.self_attn_layer_norm.'],
  [/\.mlp_ln\./, '.final_layer_norm.'],
  [/\.cross_attn\./, '.encoder_attn.'],
  [/\.attn\./, '.self_attn.'],
  [/\.query\./, '.q_proj.'],
  [/\.key\./, '.k_proj.'],
  [/\.value\./, '.v_proj.'],
  [/\.out\./, '.out_proj.'],
  [/\.mlp\.0\./, '.fc1.'],
  [/\.mlp\.2\./, '.fc2.'],
  [/encoder\.ln_post\./, 'encoder.layer_norm.'],
  [/decoder\.ln\./, 'decoder.layer_norm.'],
  [/\.token_embedding\./, '.embed_tokens.'],
  [/\.positional_embedding$/, '.embed_positions.weight'],
]

const publishedName = (name: string) => renamed.reduce((current, [from, to]) => current.replace(from, to), name)

/** whisper.cpp stores the biases of convolutions as columns. */
const publishedShape = ({name, shape}: GgmlTensor) =>
  /conv\d\.bias$/.test(name) ? shape.filter((dim) => dim !== 1) : shape
