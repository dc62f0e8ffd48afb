/**
 * The result of a conversion, its errors, and the values of `--set`.
 * @module
 */

/** A Corefile, and the parts of the source that have no equivalent in it. */
export type Conversion = {
  readonly corefile: string
  /** One line each: what has no equivalent, and what to do about it. */
  readonly notices: readonly string[]
  /** Returns the field or option that a line of the Corefile comes from, if that is known. */
  readonly fieldAt: (line: number) => string | undefined
}

/** An invalid source; the message says where and why. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError'
}

/** The values of `--set` by name. */
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

  /** Returns a value and marks it as used; `undefined` if it was not given. */
  take(name: string): string | undefined {
    const value = this.values.get(name)
    this.values.delete(name)
    return value
  }

  /** @throws {ConversionError} if a value was given that nothing used */
  checkUsed(): void {
    const [name] = this.values.keys()
    if (name !== undefined)
      throw new ConversionError(`--set ${name}: this conversion has no such value`)
  }
}
