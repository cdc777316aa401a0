import {argumentFault, argumentsOf} from './command-line.js'
import type {Commands} from './manifest.js'

/** The commands of `svc` in a Markdown text, from code spans and shell blocks: those that can be parsed, without repeats. */
export function commandsIn(commands: Commands, text: string): string[] {
  const joined = text.replaceAll(/ \\\n(?:> )? */g, ' ')
  const lines = [...joined.matchAll(/^(?:\$ )?(svc .*)$/gm), ...joined.matchAll(/`(svc [^`]+)`/g)]
  const found = lines.map(([, line = '']) => line.trim()).filter((line) => faultIn(commands, line) === undefined)
  return [...new Set(found)]
}

/** Replaces every command of `svc` in a text that does not exist or has a flag that does not exist. */
export function withoutUnknownCommands(commands: Commands, text: string): {text: string; removed: string[]} {
  const removed: string[] = []
  const kept = text.replaceAll(
    /`((?:\$ )?svc [^`]+)`|^((?:\$ )?svc .+)$|\b(svc [a-z][\w-]*)/gm,
    (whole, span, line, bare) => {
      const command = (span ?? line ?? bare).replace(/^\$ /, '').trim()
      const fault = bare === undefined ? faultIn(commands, command) : familyFault(commands, command)
      if (fault === undefined) return whole
      removed.push(command)
      return '[removed]'
    },
  )
  return {text: kept, removed}
}

const faultIn = (commands: Commands, line: string) => argumentFault(commands, argumentsOf(line) ?? [])

const familyFault = (commands: Commands, words: string) => {
  const family = words.split(' ')[1] ?? ''
  return Object.keys(commands).some((id) => id.split(':')[0] === family) ? undefined : `${family} is not a command`
}
