/** Model types of Hugging Face that take samples and give CTC logits. */
export const waveformTypes: ReadonlySet<string> = new Set([
  'wav2vec2',
  'wav2vec2-conformer',
  'hubert',
  'wavlm',
  'unispeech',
  'unispeech-sat',
  'sew',
  'sew-d',
  'data2vec-audio',
])

/** True if the directory of this `config.json` contains a CTC model. */
export const isCtc = ({model_type: type}: Readonly<Record<string, unknown>>): boolean =>
  type === 'ctc' || waveformTypes.has(String(type))
