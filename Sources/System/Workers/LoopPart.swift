public import Takes

/// A part of a service that shares the service's loop with other parts.
public protocol LoopPart: AnyObject {
    /// The descriptors that the loop polls for this part. Negative ones are ignored.
    var fileDescriptors: [Int32] { get }
    /// Called once for each of the descriptors that can be read.
    func ready(now: Instant)
    /// Does what is due. The loop calls it before each wait.
    /// - Returns: the deadline for the next call, or nil if only an event can make work.
    func turn(now: Instant) -> Instant?
}

extension LoopPart {
    public var fileDescriptors: [Int32] { [] }
    public func ready(now: Instant) {}
    public func turn(now: Instant) -> Instant? { nil }
}
