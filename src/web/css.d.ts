/** A style that the bundler takes along. */
declare module '*.css' {}
