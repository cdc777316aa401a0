import {commandLine} from '../errors/index.js'
import {keyVariable, type ProgramSettings} from './settings.js'

/**
 * The settings as lines of a shell that start the program. They contain no API key, only the variable that has it.
 * @param command with the path of the file of the settings, if they have one
 * @param hasKey false if the server needs none: programs need some text as a key all the same
 */
export function settingsScript(command: readonly string[], settings: ProgramSettings, hasKey: boolean): string {
  const {unset, env, keys, file} = settings
  return [
    ...(unset.length === 0 ? [] : [`unset ${unset.join(' ')}`]),
    ...(hasKey ? [] : [`export ${keyVariable}=${placeholderKey}`]),
    ...keys.map((name) => `export ${name}="$${keyVariable}"`),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${commandLine`${value}`}`),
    ...(file === undefined ? [] : [`cat >${file.name} <<'END'\n${file.text}END`]),
    command.map((word) => commandLine`${word}`).join(' '),
  ].join('\n')
}

/** The key of a server that needs none. */
export const placeholderKey = 'svc'
