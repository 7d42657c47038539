"""Which architectures are exported: of each family the smallest, since its operators are those of the others."""

from collections.abc import Sequence
from typing import Literal

Exporter = Literal["torchscript", "dynamo"]
EXPORTERS: tuple[Exporter, ...] = ("torchscript", "dynamo")  # PyTorch's older one, and the present one

TORCHVISION = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3",
    "maxvit_t", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "regnet_x_400mf",
    "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t",
    "swin_v2_t", "vgg11_bn", "vit_b_32",
)  # fmt: skip
TIMM = (
    "beit_base_patch16_224", "botnet26t_256", "caformer_s18", "cait_xxs24_224", "coat_tiny", "coatnet_nano_rw_224",
    "convmixer_768_32", "convnextv2_atto", "crossvit_tiny_240", "cs3darknet_s", "deit_tiny_patch16_224", "dla34",
    "dm_nfnet_f0", "dpn48b", "eca_nfnet_l0", "ecaresnet50t", "edgenext_xx_small", "efficientformer_l1",
    "efficientformerv2_s0", "efficientnet_lite0", "efficientvit_b0", "efficientvit_m0", "eva02_tiny_patch14_224",
    "fastvit_t8", "fbnetc_100", "focalnet_tiny_srf", "gcresnet50t", "gernet_s", "ghostnet_100", "hardcorenas_a",
    "hgnetv2_b0", "hrnet_w18_small", "inception_next_tiny", "inception_v4", "lambda_resnet26t", "lcnet_050",
    "legacy_seresnet18", "levit_128s", "mixer_s32_224", "mixnet_s", "mobilenetv4_conv_small", "mobileone_s0",
    "mobilevit_xxs", "mobilevitv2_050", "mvitv2_tiny", "nest_tiny", "nf_resnet50", "pit_ti_224", "poolformer_s12",
    "pvt_v2_b0", "regnety_002", "repghostnet_050", "repvgg_a0", "repvit_m0_9", "res2net50_26w_4s", "resmlp_12_224",
    "resnest14d", "resnetblur50", "resnetv2_50", "resnetv2_50x1_bit", "rexnet_100", "selecsls42", "semnasnet_075",
    "sequencer2d_s", "seresnext26d_32x4d", "skresnet18", "spnasnet_100", "starnet_s1", "swinv2_cr_tiny_ns_224",
    "tf_mobilenetv3_small_minimal_100", "tiny_vit_5m_224", "tinynet_e", "tresnet_m", "twins_pcpvt_small",
    "visformer_tiny", "vit_tiny_patch16_224", "volo_d1_224", "vovnet39a", "xception41", "xcit_nano_12_p16_224",
)  # fmt: skip
TRANSFORMERS = ("d_fine", "deimv2", "detr", "rt_detr", "rt_detr_v2", "yolos")


def exports() -> Sequence[tuple[str, str, Exporter]]:
    """Return library, architecture and exporter of each export."""
    libraries = {"torchvision": TORCHVISION, "timm": TIMM, "transformers": TRANSFORMERS}
    named = [(library, name) for library, names in libraries.items() for name in names]
    return [(*each, exporter) for each in named for exporter in EXPORTERS]
