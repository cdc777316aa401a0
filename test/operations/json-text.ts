const widest = 120

/** JSON in the format of the contracts: values that fit on one line are on one line. */
export const jsonText = (value: unknown): string => `${lay(value, '', 0)}\n`

/** @param used characters of the line used by the name before the value and the comma after it */
function lay(value: unknown, indent: string, used: number): string {
  const short = onOneLine(value)
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (parts.length === 0 || indent.length + used + short.length <= widest) return short
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const deeper = `${indent}  `
  const lines = parts.map(([name, part], i) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `
    const comma = i < parts.length - 1 ? 1 : 0
    return `${deeper}${key}${lay(part, deeper, key.length + comma)}`
  })
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}: ${onOneLine(part)}`)
    .join(', ')}}`
}
