/// One stage between a take and a card: frames in, frames out, perhaps at another rate or in other channels.
///
/// Two steps of playback are not stages. Reading comes first and has no input. The volume comes last and is applied
/// when the card is given frames, because frames that the card gives back may be given again at another volume.
protocol PlayStage: AnyObject {
    /// The number of output channels.
    var channels: Int { get }
    /// The number of input frames, after each reset, from before the start of playback. They do not add to the output's
    /// length, but the stage needs them so that its output matches the take from the start on.
    var leadFrames: Int { get }
    /// The number of output frames, after each reset, before the frame that belongs to the first input frame after the
    /// lead.
    var latencyFrames: Int { get }

    /// Uses all of `input`, and appends the finished frames to `output`.
    func process(_ input: Frames, into output: inout Frames) throws
    /// Appends the rest to `output` after the last input.
    func flush(into output: inout Frames) throws
    /// Drops all sound in the stage. The next input does not follow the previous one.
    func reset() throws
}
