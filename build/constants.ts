/**
 * Makes constants of a bundle's variables again.
 *
 * esbuild turns the `const` of modules into `var`. V8 builds the values of constants into compiled
 * code and inlines their functions, but reads a variable at each use: queries from memory take a
 * tenth longer (`npm run bench -- core`).
 * @module
 */
import { transform } from 'esbuild'

/** A file of a bundle. */
export type BundledFile = { readonly name: string; readonly text: string }

/** Packages of CommonJS load modules of Node by `require`, which ES modules do not have. */
const REQUIRE = `import { createRequire as createNodeRequire } from 'node:module'
const require = createNodeRequire(import.meta.url)`
/** A variable of the module, where esbuild puts it: at the start of a line. */
const VARIABLE = /^var (\w+) = /gm

/**
 * Minifies a file, with its variables as constants unless something assigns to them.
 * @param text ends with its source map
 * @returns the file and its source map
 * @throws {Error} if the file does not compile
 */
export async function withConstants(
  name: string,
  text: string,
  target: string,
): Promise<readonly BundledFile[]> {
  const assigned = new Set<string>()
  for (;;) {
    const constants = text.replace(VARIABLE, (all, variable) =>
      assigned.has(variable) ? all : `const ${variable} = `,
    )
    const { code, map, warnings } = await transform(constants, {
      target,
      ...(text.includes('var __require = ') && { banner: REQUIRE }),
      format: 'esm',
      minifySyntax: true,
      minifyWhitespace: true,
      sourcemap: 'external',
      sourcesContent: false,
      sourcefile: name,
      logLevel: 'silent',
      logLimit: 0,
    })
    const found = warnings.flatMap(({ id, location }) =>
      id === 'assign-to-constant' && location !== null
        ? location.lineText.slice(location.column, location.column + location.length)
        : [],
    )
    if (found.every((variable) => assigned.has(variable))) {
      return [
        { name, text: `${code}//# sourceMappingURL=${name}.map\n` },
        { name: `${name}.map`, text: map },
      ]
    }
    for (const variable of found) assigned.add(variable)
  }
}
