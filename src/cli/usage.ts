import type {Command} from '@oclif/core'

/** Arguments of a command. Without `strict`, the last one repeats; oclif would show all of them as repeatable. */
export const argumentsOf = ({args, strict = true}: Command.Loadable): Command.Loadable['args'] =>
  Object.fromEntries(
    Object.entries(args).map(([name, arg], i, {length}) => {
      const isRepeated = arg.multiple || (!strict && i === length - 1)
      return [name, isRepeated ? {...arg, multiple: true} : arg]
    }),
  )

/** Arguments and required flags of a command: `FILE [NAME] --output DIR [FLAGS]`. */
export function usageOf(command: Command.Loadable): string {
  const words = Object.values(argumentsOf(command)).map(({name, required, multiple}) => {
    const word = `${name.toUpperCase()}${multiple ? '...' : ''}`
    return required ? word : `[${word}]`
  })
  const flags = Object.values(command.flags).flatMap((flag) => {
    if (!flag.required || flag.type !== 'option') return []
    const {helpValue = flag.options?.join('|') ?? flag.name.toUpperCase(), multiple} = flag
    return [`--${flag.name} ${helpValue}${multiple ? '...' : ''}`]
  })
  return [...words, ...flags, '[FLAGS]'].join(' ')
}
