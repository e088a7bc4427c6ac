/**
 * The console's own routes, beside the versioned ones and not part of the contract: the page and this program come in
 * one file and change together. A key in a header opens them as well as a session, so that scripts may look, too.
 */
import { Elysia } from 'elysia'
import { type ConsoleAdminParts, consoleAdminRoutes } from './admin.ts'
import { type ConsoleModelsParts, consoleModelsRoutes } from './models.ts'
import { consolePageRoutes, type ConsolePageParts } from './page.ts'
import { type ConsoleRecordsParts, consoleRecordsRoutes } from './records.ts'
import { type ConsoleServerParts, consoleServerRoutes } from './server.ts'
import { type ConsoleSessionParts, consoleSessionRoutes } from './session.ts'
import type { Route } from '../exchange.ts'

export type ConsoleParts = ConsolePageParts &
  ConsoleSessionParts &
  ConsoleRecordsParts &
  ConsoleAdminParts &
  ConsoleModelsParts &
  ConsoleServerParts

export const consoleRoutes = (route: Route, parts: ConsoleParts) =>
  new Elysia()
    .use(consolePageRoutes(route, parts))
    .use(consoleSessionRoutes(route, parts))
    .use(consoleRecordsRoutes(route, parts))
    .use(consoleAdminRoutes(route, parts))
    .use(consoleModelsRoutes(route, parts))
    .use(consoleServerRoutes(route, parts))
