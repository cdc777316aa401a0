import type {Line} from './framing.js'

export class LineQueue {
  #lines: readonly Line[] = []
  #at = 0

  get length(): number {
    return this.#lines.length - this.#at
  }

  push(lines: readonly Line[]): void {
    this.#lines = this.length === 0 ? lines : [...this.#lines.slice(this.#at), ...lines]
    this.#at = 0
  }

  shift(): Line | undefined {
    const line = this.#lines[this.#at]
    if (line !== undefined) this.#at++
    return line
  }

  clear(): void {
    this.#lines = []
    this.#at = 0
  }
}
