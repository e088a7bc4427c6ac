/** A script of its own, fetched when there is something to plot: uPlot is a third of what the console would weigh. */
import uPlot from 'uplot'

export { uPlot }
