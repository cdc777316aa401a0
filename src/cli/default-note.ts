/** Splits `Text; default: value.` into `Text.` and the value. */
export function splitDefault(description: string): {text: string; computed: string | undefined} {
  const [, text = description, computed] = /^(.*); default: (.*)\.$/.exec(description) ?? []
  return {text: text.replace(/\.?$/, '.'), computed}
}
