import Deck
import Doctor
import Panel
import Takes

/// The panel that a recorder has: real buttons and lamps, or simulated ones.
protocol FrontPanel: AnyObject {
    /// Hears the buttons through a loop.
    /// - Parameters:
    ///   - deck: what the panel works; its status is what a panel with a screen tells.
    ///   - quit: ends the recorder in good order.
    func watch(on loop: Loop, of deck: Deck, quit: @escaping () -> Void)
    /// The gestures that are decided by `now`.
    func gestures(at now: Instant) -> [Gesture]
    /// When a gesture may be decided next.
    var nextGesture: Instant? { get }
    /// Lights the lamps for what is to be told.
    /// - Returns: when they change next by themselves.
    func show(_ indication: Indication, at now: Instant) -> Instant?
    /// The lamps that can be lit one at a time.
    var lamps: [Lamp] { get }
    /// The one that is lit alone, whatever else there is to show; nil: all show what there is.
    var litAlone: Lamp? { get set }
    /// The lines that it holds; nil: it has none.
    var openLines: OpenLines? { get }
    /// Puts out all lamps.
    func goDark()
}
