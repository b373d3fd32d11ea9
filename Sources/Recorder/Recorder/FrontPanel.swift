import Deck
import Doctor
import Panel
import Simulation
import Takes
import Workers

/// The recorder's panel: real buttons and lamps, or simulated ones. All calls come from the core's thread, and none of
/// them blocks.
protocol FrontPanel: AnyObject {
    /// Starts to watch the buttons. Call it at most once.
    /// - Throws: `ThreadError` if the system grants no more threads.
    func start() throws(ThreadError)
    /// Readable while events wait for `deliver`; negative if there never are any.
    var fileDescriptor: Int32 { get }
    /// Passes the events since the last call to the deck, in their order. Call it when `fileDescriptor` is readable.
    func deliver(to deck: Deck, at now: Instant)
    /// Posts the indication for the lamps. Call it at each turn of the core's loop: it is also the core's heartbeat.
    /// - Parameter readout: the text for a panel with a screen; called only when the panel draws.
    /// - Returns: the deadline for the next call.
    func show(_ indication: Indication, at now: Instant, readout: () -> PanelReadout) -> Instant?
    /// The lamps that can be lit one at a time.
    var lamps: [Lamp] { get }
    /// The only lamp that is lit, regardless of the indication; nil for normal operation.
    var litAlone: Lamp? { get set }
    /// The lines that the panel holds, or nil if it uses no lines.
    var openLines: OpenLines? { get }
    /// Switches all lamps off and ends the panel. Waits at most one second.
    func goDark()
}
