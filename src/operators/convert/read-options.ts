/**
 * Options of a configuration, which remember what a conversion reads of them.
 * @module
 */

/** An option's value, and where it is. */
type Entry = { readonly text: string; readonly place: string }

/** Options by name. */
export class ReadOptions {
  private readonly entries = new Map<string, Entry>()
  private readonly read = new Set<string>()

  /** Sets an option; returns where it was set before, if it was. */
  set(name: string, text: string, place = ''): string | undefined {
    const before = this.entries.get(name)
    this.entries.set(name, { text, place })
    return before?.place
  }

  /** Returns a value and marks it as read; `undefined` if it was not set. */
  get(name: string): string | undefined {
    this.read.add(name)
    return this.entries.get(name)?.text
  }

  /** Returns whether an option is set, and marks it as read. */
  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** Returns all values by name, without marking them. */
  all(): ReadonlyMap<string, string> {
    return new Map([...this.entries].map(([name, { text }]) => [name, text]))
  }

  /** Returns the options that were not read, with their places. */
  unread(): readonly (Entry & { readonly name: string })[] {
    return [...this.entries]
      .filter(([name]) => !this.read.has(name))
      .map(([name, entry]) => ({ name, ...entry }))
  }
}
