/** Sampling settings in the metadata, and their names in `generation_config.json`. */
export const sampling: Readonly<Record<string, string>> = {
  'general.sampling.temp': 'temperature',
  'general.sampling.top_k': 'top_k',
  'general.sampling.top_p': 'top_p',
  'general.sampling.min_p': 'min_p',
  'general.sampling.penalty_repeat': 'repetition_penalty',
}
