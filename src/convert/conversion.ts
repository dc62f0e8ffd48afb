/**
 * What comes of another system's configuration.
 * @module
 */

/** A Corefile, and what of the source it does not say. */
export type Conversion = {
  readonly corefile: string
  /** One line each, for people: what has no equal, and what to do about it. */
  readonly notices: readonly string[]
}

/** A source that cannot be converted; the message says where and why. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError'
}

/** Values that a source leaves open, by name; each that is used is taken out. */
export class Settings {
  private readonly values: Map<string, string>

  /** @throws {ConversionError} when a setting is not `NAME=VALUE` */
  constructor(settings: readonly string[]) {
    this.values = new Map(
      settings.map((setting) => {
        const [, name, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
        if (name === undefined || value === undefined) {
          throw new ConversionError(`--set takes NAME=VALUE, got "${setting}"`)
        }
        return [name, value]
      }),
    )
  }

  /** Takes a value out. */
  take(name: string): string | undefined {
    const value = this.values.get(name)
    this.values.delete(name)
    return value
  }

  /** @throws {ConversionError} when a value was given that nothing wanted */
  checkUsed(): void {
    const [name] = this.values.keys()
    if (name !== undefined) throw new ConversionError(`nothing wants a value for "${name}"`)
  }
}
