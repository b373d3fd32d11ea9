import Deck
import Doctor
import Panel
import Simulation
import Takes
import Workers

/// The panel that a recorder has: real buttons and lamps, or simulated ones. All calls come from the core's thread, and none
/// of them waits.
protocol FrontPanel: AnyObject {
    /// Starts to watch the buttons. To be called once.
    /// - Throws: `ThreadError` if the system grants no more threads.
    func start() throws(ThreadError)
    /// Readable while there is something to deliver; negative: never.
    var fileDescriptor: Int32 { get }
    /// Hands the deck what happened on the panel since the last call, in that order. To be called when `fileDescriptor` is
    /// readable.
    func deliver(to deck: Deck, at now: Instant)
    /// Posts what the lamps are to show. To be called at each turn of the core's loop: it is also the sign that the core works.
    /// - Parameter readout: what a panel with a screen shows besides; called only when it draws.
    /// - Returns: when it is to be called again at the latest.
    func show(_ indication: Indication, at now: Instant, readout: () -> PanelReadout) -> Instant?
    /// The lamps that can be lit one at a time.
    var lamps: [Lamp] { get }
    /// The one that is lit alone, whatever else there is to show; nil: all show what there is.
    var litAlone: Lamp? { get set }
    /// The lines that it holds; nil: it has none.
    var openLines: OpenLines? { get }
    /// Puts out all lamps, and ends. Waits at most a second for it.
    func goDark()
}
