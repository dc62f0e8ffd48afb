/**
 * What `build/assets.ts` writes into `assets.js`.
 * @module
 */

/** The page for browsers, with its script and style, of a gateway that needs tokens. */
export declare const PAGE: string
/** Source of the Content Security Policy for the script. */
export declare const SCRIPT_SOURCE: string
/** Source of the Content Security Policy for the style. */
export declare const STYLE_SOURCE: string
/** Texts of `onboarding/templates` by file name, with places such as `${origin}`. */
export declare const TEMPLATES: Readonly<Record<string, string>>
/** The description of the routes by OpenAPI 3.1, as JSON. */
export declare const OPENAPI: string
