import {access, constants} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {
  claudeSettings,
  codexSettings,
  continueSettings,
  opencodeSettings,
  type ProgramSettings,
  type Target,
} from './settings.js'

/** A program of others that can use a server of `svc`. */
export interface KnownProgram {
  /** Argument of `svc launch`. */
  id: string
  title: string
  executable: string
  install: string
  /** Version that was tried with `svc serve`: it called a tool, and answered. */
  version: string
  /** Context length that its instructions and tools need, tokens. */
  contextLength: number
  settings(target: Target): ProgramSettings
}

/** The known programs. All of them call tools. */
export const knownPrograms: readonly KnownProgram[] = [
  {
    id: 'claude',
    title: 'Claude Code',
    executable: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    version: '2.1.332',
    contextLength: 65_536,
    settings: claudeSettings,
  },
  {
    id: 'codex',
    title: 'Codex',
    executable: 'codex',
    install: 'npm install -g @openai/codex',
    version: '0.171.0',
    contextLength: 65_536,
    settings: codexSettings,
  },
  {
    id: 'opencode',
    title: 'opencode',
    executable: 'opencode',
    install: 'npm install -g opencode-ai',
    version: '1.18.33',
    contextLength: 65_536,
    settings: opencodeSettings,
  },
  {
    id: 'continue',
    title: 'Continue',
    executable: 'cn',
    install: 'npm install -g @continuedev/cli',
    version: '1.5.47',
    contextLength: 32_768,
    settings: continueSettings,
  },
]

export const programNamed = (id: string): KnownProgram | undefined => knownPrograms.find((program) => program.id === id)

/**
 * The path of a program, from the directories of `PATH`.
 * @throws launch_program_missing with the command that installs it
 */
export async function locateProgram(
  {title, executable, install}: KnownProgram,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const extensions = process.platform === 'win32' ? ['.exe', '.cmd'] : ['']
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean))
    for (const extension of extensions) {
      const path = join(folder, executable + extension)
      const isExecutable = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isExecutable) return path
    }
  throw new SvcError('launch_program_missing', {title, executable, install})
}
