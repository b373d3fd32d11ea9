/// One stage between a take and a card: frames in, frames out, perhaps at another rate or in other channels.
///
/// Two parts of playing are no stages of this kind. Reading comes before them and has no input. The volume comes after them
/// and is applied when the card is given frames: what it gives back is given again at another volume.
protocol PlayStage: AnyObject {
    /// The channels of its output.
    var channels: Int { get }
    /// Frames of input, after each reset, from before the place where the playing begins: they are no part of the output's
    /// length, but what the stage needs to be even with the take from there on.
    var leadFrames: Int { get }
    /// Frames of output, after each reset, that come before the one that belongs to the first frame of input
    /// behind the lead.
    var latencyFrames: Int { get }

    /// Uses all of `input`, and adds to `output` what is finished.
    func process(_ input: Frames, into output: inout Frames) throws
    /// All input was given: adds the rest to `output`.
    func flush(into output: inout Frames) throws
    /// What comes next does not follow what came before: all sound within is dropped.
    func reset() throws
}
