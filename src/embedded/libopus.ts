/**
 * libopus, as a file that the system can load. Run from source, it is in the build cache; the executable carries it and
 * unpacks it first (`build/native.ts` replaces this file there).
 */
import { cachedPath } from '../../build/cache.ts'
import { libopus } from '../../build/libopus.ts'

/**
 * @param open is given the library's path @returns what it returns
 * @throws Error when the build cache lacks the library; NativeError in the executable, also for what `open` throws
 */
export const openLibopus = <T>(open: (path: string) => T): T => open(cachedPath(libopus))
