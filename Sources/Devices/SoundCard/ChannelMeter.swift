/// Decides which channels of a card have a signal, for `channels = "live"`.
public protocol ChannelMeter: AnyObject {
    /// - Parameter bytes: whole frames, interleaved.
    func take(_ bytes: UnsafeRawBufferPointer)
    /// Ends the measurement.
    /// - Returns: whether each channel has a signal.
    func signals() -> [Bool]
}
